# stock-sync.sh LAMP-1 12: sets the stock of one product, unless somebody changed it since it was read.
# stock-sync.sh LAMP-1 +3 delivery-4711-2: adds to it; the last word names the change, so that it is made once.
keys=(-H "SecureURL: $SECURE_URL" -H "PrivateKey: $PRIVATE_KEY" -H "Token: $TOKEN" -H 'Content-Type: application/json')
sku=$1 stock=$2 name=$3
if [[ ! ($stock =~ ^[0-9]+(\.[0-9]+)?$ || ($stock =~ ^[+-][0-9]+$ && -n $name)) ]]; then
  echo "$sku: $stock is no number, or the change has no name" >&2; exit 1
fi

# An unknown SKU is a 404 with an empty body, which --fail-with-body ends with 22.
curl -sS --fail-with-body --get "$API/Products/skuinfo" "${keys[@]}" --data-urlencode "sku=$sku" >found.json ||
  { echo "$sku is not there: $(cat found.json)" >&2; exit 1; }
id=$(sed -nE 's/.*"CatalogID":([0-9]+).*/\1/p' found.json)

if [[ $stock == [+-]* ]]; then
  curl -sS --fail-with-body -X PUT "$API/Products/${id:?}" "${keys[@]}" -H "Idempotency-Key: $name" \
    -d '{"SKUInfo": {"StockAdjust": '"${stock#+}"'}}'
  exit
fi
curl -sS --fail-with-body -D headers.txt "$API/Products/${id:?}?\$select=SKUInfo" "${keys[@]}" || exit 1; echo
etag=$(sed -nE 's/^etag: (.*[^[:space:]])[[:space:]]*$/\1/Ip' headers.txt)
curl -sS --fail-with-body -X PUT "$API/Products/$id" "${keys[@]}" \
  -H "If-Match: ${etag:?}" -H "Idempotency-Key: $(openssl rand -hex 16)" -d '{"SKUInfo": {"Stock": '"$stock"'}}'
