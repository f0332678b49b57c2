"""Lays the entries of a HAR on one line each out as many small HARs: tiny.py SEED.har FOLDER COUNT"""

import json
import os
import sys

seed, folder, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
with open(seed, encoding="utf-8") as file:
    entries = json.load(file)["log"]["entries"]
texts = [json.dumps({"log": {"version": "1.2", "entries": [entry]}}) for entry in entries]
# A kilobyte or two each: what counts is the cost of a file.
texts = [text for text in texts if len(text) < 8192]
for number in range(count):
    path = os.path.join(folder, f"{number // 1000:03}", f"{number % 1000:03}.har")
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(texts[number % len(texts)])
print(json.dumps({"files": count}))
