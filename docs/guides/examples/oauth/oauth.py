# python3 oauth.py: opens nothing by itself; open the address that it prints
import base64, hashlib, json, os, secrets, urllib.request
from http.server import BaseHTTPRequestHandler, HTTPServer
from urllib.parse import parse_qs, urlencode, urlsplit

env = os.environ
SERVER, REDIRECT_URI = env["SERVER"], env["REDIRECT_URI"]
verifier, state = secrets.token_urlsafe(32), secrets.token_urlsafe(16)
digest = hashlib.sha256(verifier.encode()).digest()
received = {}


class Back(BaseHTTPRequestHandler):
    def do_GET(self):
        sent = {name: values[0] for name, values in parse_qs(urlsplit(self.path).query).items()}
        # Somebody else's code must not be taken for this merchant's.
        is_ours = secrets.compare_digest(sent.get("state", ""), state)
        if is_ours:
            received.update(sent)
        self.send_response(200 if is_ours else 400)
        self.end_headers()
        self.wfile.write(b"Close this window." if is_ours else b"This is not the answer to what was asked.")

    def log_message(self, *_):
        pass


server = HTTPServer(("127.0.0.1", urlsplit(REDIRECT_URI).port), Back)
query = {
    "response_type": "code",
    "client_id": env["PUBLIC_KEY"],
    "redirect_uri": REDIRECT_URI,
    "state": state,
    "code_challenge": base64.urlsafe_b64encode(digest).rstrip(b"=").decode(),
    "code_challenge_method": "S256",
}
print(f"{SERVER}/oauth/authorize?{urlencode(query)}", flush=True)
while not received:
    server.handle_request()
if "code" not in received:
    raise SystemExit(f"not connected: {received.get('error')}")

form = {
    "grant_type": "authorization_code",
    "code": received["code"],
    "code_verifier": verifier,
    "redirect_uri": REDIRECT_URI,
    "client_id": env["PUBLIC_KEY"],
    "client_secret": env["PRIVATE_KEY"],
}
with urllib.request.urlopen(f"{SERVER}/oauth/token", urlencode(form).encode()) as answer:
    token = json.load(answer)["access_token"]  # a secret: keep it, and refresh_token
request = urllib.request.Request(f"{env['API']}/Products?limit=3", headers={"Authorization": f"Bearer {token}"})
with urllib.request.urlopen(request) as answer:
    for product in json.load(answer):
        print(product["SKUInfo"]["SKU"])
