# python3 new-orders.py
import json, os, sys, urllib.error, urllib.request, uuid

API = os.environ["API"]
HEADERS = {
    "SecureURL": os.environ["SECURE_URL"],
    "PrivateKey": os.environ["PRIVATE_KEY"],
    "Token": os.environ["TOKEN"],
    "Content-Type": "application/json",
}


def call(method, path, body=None, **more):
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(API + path, data, {**HEADERS, **more}, method=method)
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)


try:  # getOrder with status 1; not-found is what "No Data Found" was.
    orders = call("GET", "/Orders?orderstatus=1&limit=100")
except urllib.error.HTTPError as error:
    if error.headers.get("X-Error-Code") != "not-found":
        sys.exit(f"{error.code} {error.read().decode()}")
    orders = []
for order in orders:
    lines = [f"{line['ItemQuantity']} x {line['ItemID']}" for line in order["OrderItemList"]]
    print(f"{order['InvoiceNumberPrefix']}{order['InvoiceNumber']}", ", ".join(lines))

# updateOrderStatus, of all of them at once. The answer says for each what became of it.
accepted = [{"OrderID": order["OrderID"], "OrderStatusID": 2} for order in orders]
if accepted:
    results = call("PUT", "/Orders", accepted, **{"Idempotency-Key": str(uuid.uuid4())})
    refused = [result for result in results if result["Status"] != "200"]
    if refused:
        sys.exit(json.dumps(refused))
