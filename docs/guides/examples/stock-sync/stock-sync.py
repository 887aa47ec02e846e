# python3 stock-sync.py stock.csv, with lines such as LAMP-1;12, or LAMP-1;+3;delivery-4711-1 for three more
import csv, json, os, re, sys, time, urllib.error, urllib.request, uuid

API = os.environ["API"]
KEYS = {
    "SecureURL": os.environ["SECURE_URL"],
    "PrivateKey": os.environ["PRIVATE_KEY"],
    "Token": os.environ["TOKEN"],
    "Content-Type": "application/json",
}


def call(address, method="GET", headers={}, body=None):
    """Sends a request until it has an answer that stays. Returns status, headers and body."""
    data = None if body is None else json.dumps(body).encode()
    for tries in range(1, 9):
        request = urllib.request.Request(address, data, {**KEYS, **headers}, method=method)
        wait = 0
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return answer.status, answer.headers, json.load(answer)
        except urllib.error.HTTPError as error:
            if error.code != 429 and error.code < 500:
                return error.code, error.headers, error.read().decode()
            wait = int(error.headers.get("Retry-After") or 0)
        except OSError as error:
            print("no answer:", error, file=sys.stderr)
        time.sleep(wait or tries)
    sys.exit(f"{address}: no answer after {tries} tries")


def read_products():
    """Returns the products by SKU, page by page."""
    products, next_page = {}, f"{API}/Products/skuinfo?limit=200"
    while next_page:
        status, headers, infos = call(next_page)
        if status == 404:  # no product at all
            break
        if status != 200:
            sys.exit(f"{status} {infos}")
        products.update({info["SKU"]: info for info in infos})
        link = re.search(r'<([^>]+)>; rel="next"', headers.get("Link") or "")
        next_page = link and link.group(1)
    return products


def set_stock(product_id, stock):
    """Sets the stock, if it is another one. Reads again when somebody else was first."""
    while True:
        status, headers, records = call(f"{API}/Products/{product_id}")
        if status != 200:
            return f"cannot be read: {status} {records}"
        before = records[0]["SKUInfo"]["Stock"]
        if before == stock:
            return "unchanged"
        conditions = {"If-Match": headers["ETag"], "Idempotency-Key": str(uuid.uuid4())}
        change = {"SKUInfo": {"Stock": stock}}
        status, _, answer = call(f"{API}/Products/{product_id}", "PUT", conditions, change)
        if status == 200:
            return f"{before} -> {stock}"
        if status != 412:
            return f"was refused: {status} {answer}"


def adjust_stock(product_id, by, key):
    """Adds to the stock that there is, or takes off. With the same key the store does it once, however often it is sent."""
    change = {"SKUInfo": {"StockAdjust": by}}
    status, _, answer = call(f"{API}/Products/{product_id}", "PUT", {"Idempotency-Key": key}, change)
    return f"adjusted by {by}" if status == 200 else f"was refused: {status} {answer}"


products = read_products()
with open(sys.argv[1], newline="", encoding="utf-8") as file:
    for sku, stock, *key in csv.reader(file, delimiter=";"):
        product = products.get(sku.strip())
        if product is None:
            print(sku, "is not in the store")
        elif stock[0] in "+-":
            print(sku, adjust_stock(product["CatalogID"], int(stock), *key))
        elif product["Stock"] != float(stock):
            print(sku, set_stock(product["CatalogID"], float(stock)))
