# python3 first-call.py
import json, os, sys, urllib.error, urllib.request

env = os.environ
headers = {"SecureURL": env["SECURE_URL"], "PrivateKey": env["PRIVATE_KEY"], "Token": env["TOKEN"]}
request = urllib.request.Request(f"{env['API']}/Products?limit=5", headers=headers)
try:
    with urllib.request.urlopen(request) as answer:
        products = json.load(answer)
except urllib.error.HTTPError as error:
    sys.exit(f"{error.code} {error.read().decode()}")
for product in products:
    info = product["SKUInfo"]
    print(info["SKU"], info["Price"], info["Stock"])
