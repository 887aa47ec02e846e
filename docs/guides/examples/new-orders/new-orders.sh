# The new orders, as getOrder gave them; and one of them accepted, as updateOrderStatus did.
keys=(-H "SecureURL: $SECURE_URL" -H "PrivateKey: $PRIVATE_KEY" -H "Token: $TOKEN")
status=$(curl -sS -o orders.json -w '%{http_code}' "$API/Orders?orderstatus=1&limit=100" "${keys[@]}")
# An empty 404 is what "No Data Found" was. A 404 with a text: the address is wrong.
if [[ $status == 404 && ! -s orders.json ]]; then exit; fi
if [[ $status != 200 ]]; then echo "$status $(cat orders.json)" >&2; exit 1; fi
id=$(sed -E 's/^[^{]*\{[^}]*"OrderID":([0-9]+).*/\1/' orders.json)
curl -sS --fail-with-body -X PUT "$API/Orders/$id" "${keys[@]}" -H 'Content-Type: application/json' \
  -H "Idempotency-Key: accept-$id" -d '{"OrderStatusID": 2}'
