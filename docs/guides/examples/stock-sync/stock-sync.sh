# Sets the stock of one product, unless somebody changed it since it was read.
keys=(-H "SecureURL: $SECURE_URL" -H "PrivateKey: $PRIVATE_KEY" -H "Token: $TOKEN")
sku=$1 stock=$2

curl -sS --get "$API/Products/skuinfo" "${keys[@]}" --data-urlencode "sku=$sku" >found.json
id=$(sed -E 's/.*"CatalogID":([0-9]+).*/\1/' found.json)
curl -sS -D headers.txt "$API/Products/$id?\$select=SKUInfo" "${keys[@]}"; echo
etag=$(sed -nE 's/^etag: (.*[^[:space:]])[[:space:]]*$/\1/Ip' headers.txt)

curl -sS -X PUT "$API/Products/$id" "${keys[@]}" -H 'Content-Type: application/json' \
  -H "If-Match: $etag" -H "Idempotency-Key: stock-$id-$(date +%s)" \
  -d '{"SKUInfo": {"Stock": '"$stock"'}}'; echo
