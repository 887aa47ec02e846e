# python3 stock-sync.py stock.csv
# Lines are such as LAMP-1;12 (there are 12) or LAMP-1;+3;delivery-4711-2 (3 more, and the name of the change).
import json, os, re, sys, time, urllib.error, urllib.request, uuid

API = os.environ["API"]
KEYS = {
    "SecureURL": os.environ["SECURE_URL"],
    "PrivateKey": os.environ["PRIVATE_KEY"],
    "Token": os.environ["TOKEN"],
    "Content-Type": "application/json",
}


class Refused(Exception):
    pass


def call(address, method="GET", headers={}, body=None):
    """Sends a request until it has an answer that stays: the same bytes with the same key in each try.
    Returns status, headers and text."""
    data = None if body is None else json.dumps(body).encode()
    for tries in range(1, 9):
        request = urllib.request.Request(address, data, {**KEYS, **headers}, method=method)
        wait = 0
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return answer.status, answer.headers, answer.read().decode()
        except urllib.error.HTTPError as error:
            wait = int(error.headers.get("Retry-After") or 0)
            # in-progress: the first try with this key is still running.
            if error.code != 429 and error.code < 500 and error.headers.get("X-Error-Code") != "in-progress":
                return error.code, error.headers, error.read().decode()
        except OSError as error:
            print("no answer:", error, file=sys.stderr)
        time.sleep(wait or tries)
    sys.exit(f"{address}: no answer after {tries} tries")


def read_products():
    """Returns the products by SKU in lower case, page by page."""
    products, next_page = {}, f"{API}/Products/skuinfo?limit=200"
    while next_page:
        status, headers, text = call(next_page)
        if headers.get("X-Error-Code") == "not-found":  # no product at all
            break
        if status != 200:
            sys.exit(f"{next_page}: {status} {text}")
        products.update({info["SKU"].lower(): info for info in json.loads(text)})
        link = re.search(r'<([^>]+)>; rel="next"', headers.get("Link") or "")
        next_page = link and link.group(1)
    return products


def set_stock(product_id, stock):
    """Sets the stock, if it is another one. Reads again, and takes a new key, when somebody else was first."""
    for _ in range(8):
        status, headers, text = call(f"{API}/Products/{product_id}")
        if status != 200:
            raise Refused(f"cannot be read: {status} {text}")
        before = json.loads(text)[0]["SKUInfo"]["Stock"]
        if before == stock:
            return "unchanged"
        conditions = {"If-Match": headers["ETag"], "Idempotency-Key": str(uuid.uuid4())}
        change = {"SKUInfo": {"Stock": stock}}
        status, headers, text = call(f"{API}/Products/{product_id}", "PUT", conditions, change)
        if status == 200:
            return f"{before} -> {stock}"
        if headers.get("X-Error-Code") != "precondition-failed":
            break
    raise Refused(f"was refused: {status} {text}")


def adjust_stock(sku, added, name):
    """Adds to the stock as it is at that moment; with the same name again, within 24 hours, nothing more."""
    change = [{"SKUInfo": {"SKU": sku, "StockAdjust": added}}]
    status, _, text = call(f"{API}/Products", "PUT", {"Idempotency-Key": name}, change)
    if status != 200:
        raise Refused(f"was refused: {status} {text}")
    return f"adjusted by {added}"


products = read_products()
is_refused = False
with open(sys.argv[1], encoding="utf-8-sig") as file:
    for number, line in enumerate(file, 1):
        if not line.strip():
            continue
        sku, stock, name = (*(cell.strip() for cell in line.split(";")), "", "")[:3]
        try:
            product = products.get(sku.lower())
            if product is None:
                raise Refused("is not in the store")
            if re.fullmatch(r"[+-][0-9]+", stock) and name:
                print(sku, adjust_stock(product["SKU"], int(stock), name))
            elif not re.fullmatch(r"[0-9]+(\.[0-9]+)?", stock):
                raise Refused("needs a number, or +n or -n and the name of the change")
            elif product["Stock"] != float(stock):
                print(sku, set_stock(product["CatalogID"], float(stock)))
        except Refused as error:
            print(f"line {number}: {sku} {error}", file=sys.stderr)
            is_refused = True
sys.exit(1 if is_refused else 0)
