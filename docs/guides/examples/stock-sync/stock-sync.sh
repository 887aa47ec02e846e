# Sets the stock of one product (LAMP-1 12), unless somebody changed it since it was read; or adjusts it (LAMP-1 +3 delivery-4711-1).
keys=(-H "SecureURL: $SECURE_URL" -H "PrivateKey: $PRIVATE_KEY" -H "Token: $TOKEN")
sku=$1 stock=$2 key=${3:-}

curl -sS --get "$API/Products/skuinfo" "${keys[@]}" --data-urlencode "sku=$sku" >found.json
id=$(sed -E 's/.*"CatalogID":([0-9]+).*/\1/' found.json)

if [[ $stock == [+-]* ]]; then # added to what there is: once, however often it is sent with this key
  curl -sS -X PUT "$API/Products/$id" "${keys[@]}" -H 'Content-Type: application/json' \
    -H "Idempotency-Key: $key" -d '{"SKUInfo": {"StockAdjust": '"${stock#+}"'}}'; echo
  exit
fi

curl -sS -D headers.txt "$API/Products/$id?\$select=SKUInfo" "${keys[@]}"; echo
etag=$(sed -nE 's/^etag: (.*[^[:space:]])[[:space:]]*$/\1/Ip' headers.txt)

curl -sS -X PUT "$API/Products/$id" "${keys[@]}" -H 'Content-Type: application/json' \
  -H "If-Match: $etag" -H "Idempotency-Key: stock-$id-$(date +%s)" \
  -d '{"SKUInfo": {"Stock": '"$stock"'}}'; echo
