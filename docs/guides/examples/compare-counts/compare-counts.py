# OLD_API=https://… python3 compare-counts.py
import json, os, sys, urllib.error, urllib.request

env = os.environ
headers = {"SecureURL": env["SECURE_URL"], "PrivateKey": env["PRIVATE_KEY"], "Token": env["TOKEN"]}
services = ["Products", "Orders", "Customers", "Category", "Manufacturers", "Distributors"]


def count(api, service):
    request = urllib.request.Request(f"{api}/{service}?countonly=1", headers=headers)
    try:
        with urllib.request.urlopen(request) as answer:
            return json.load(answer)["TotalCount"]
    except urllib.error.HTTPError as error:
        sys.exit(f"{api}/{service}: {error.code} {error.read().decode()}")


is_equal = True
for service in services:
    there, here = count(env["OLD_API"], service), count(env["API"], service)
    print(service, there, here, "equal" if there == here else "DIFFERENT")
    is_equal = is_equal and there == here
sys.exit(0 if is_equal else 1)
