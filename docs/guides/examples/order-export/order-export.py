# python3 order-export.py folder: brings the folder up to date and ends; run it every minute, or as often as you like
import json, os, pathlib, re, sys, time, urllib.error, urllib.request

API = os.environ["API"]
HEADERS = {"SecureURL": os.environ["SECURE_URL"], "PrivateKey": os.environ["PRIVATE_KEY"], "Token": os.environ["TOKEN"]}
folder = pathlib.Path(sys.argv[1])
folder.mkdir(parents=True, exist_ok=True)


def read(address):
    """Reads an address. Returns the code of a refusal, the body and the address of the next page.
    not-found (nothing matches) and gone have neither."""
    for tries in range(1, 9):
        wait = 0
        try:
            with urllib.request.urlopen(urllib.request.Request(address, headers=HEADERS), timeout=60) as answer:
                link = re.search(r'<([^>]+)>; rel="next"', answer.headers.get("Link") or "")
                return None, json.load(answer), link and link.group(1)
        except urllib.error.HTTPError as error:
            code = error.headers.get("X-Error-Code")
            if code in ("not-found", "gone"):
                return code, [], None
            if error.code != 429 and error.code < 500:
                sys.exit(f"{address}: {error.code} {error.read().decode()}")
            wait = int(error.headers.get("Retry-After") or 0)
        except OSError as error:
            print("no answer:", error, file=sys.stderr)
        time.sleep(wait or tries)
    sys.exit(f"{address}: no answer after {tries} tries")


def store(name, value):
    """Replaces a file as a whole, so that a kill leaves the former one or the new one."""
    new = folder / f"{name}.new"
    new.write_text(json.dumps(value))
    new.replace(folder / name)


def file_of_order(order):
    return f"order-{order['OrderID']}.json"


def file_of_return(record):
    return f"return-{record['RMAID']}.json"


def begin():
    """Asks where the feed stands, and then reads everything: what changes meanwhile comes by the feed. Whatever fails
    ends the program before it stores a place."""
    _, newest, _ = read(f"{API}/Events?after=newest")
    after = newest[0]["Sequence"] if newest else 0
    current = set()
    for path, file_of in (("/Orders?limit=300", file_of_order), ("/RMA?limit=500", file_of_return)):
        next_page = API + path
        while next_page:
            _, records, next_page = read(next_page)
            for record in records:
                store(file_of(record), record)
                current.add(file_of(record))
    for file in folder.iterdir():  # what an earlier beginning left, and the store no longer has
        if re.fullmatch(r"(order|return)-\d+\.json", file.name) and file.name not in current:
            file.unlink()
    store("after.json", after)
    return after


# The kinds by name, because a server may have more than this program knows.
names = [kind["EventName"] for kind in read(f"{API}/Webhooks/Events")[1]]
files = {name: file_of_order for name in names if name.startswith("Order ")}
files |= {name: file_of_return for name in names if name.startswith("Return ")}

place = folder / "after.json"
after = json.loads(place.read_text()) if place.exists() else begin()
while True:
    code, events, _ = read(f"{API}/Events?after={after}&limit=100")
    if code == "gone":
        after = begin()  # events after this place were deleted, or the store was reset
        continue
    if not events:
        break
    for event in events:
        name, record = event["EventName"], event["Record"]
        if name == "Return Deleted":
            (folder / file_of_return(record)).unlink(missing_ok=True)
        elif name in files:
            store(files[name](record), record)
        after = event["Sequence"]
    # Only now: after a kill before this line the same events come again.
    store("after.json", after)
