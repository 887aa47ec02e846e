# Prints the address for the merchant's browser; then takes the code that the browser came back with.
verifier=$(openssl rand -hex 32)
challenge=$(printf %s "$verifier" | openssl dgst -sha256 -binary | openssl base64 | tr '+/' '-_' | tr -d '=\n')
state=$(openssl rand -hex 16)
back=$(printf %s "$REDIRECT_URI" | sed 's/%/%25/g; s/:/%3A/g; s/\//%2F/g; s/?/%3F/g; s/&/%26/g; s/=/%3D/g')

echo "$SERVER/oauth/authorize?response_type=code&client_id=$PUBLIC_KEY&redirect_uri=$back&state=$state&code_challenge=$challenge&code_challenge_method=S256"
read -r code # of …?code=…&state=…, after you have compared the state

curl -sS "$SERVER/oauth/token" -d grant_type=authorization_code --data-urlencode "code=$code" -d "code_verifier=$verifier" \
  --data-urlencode "redirect_uri=$REDIRECT_URI" -d "client_id=$PUBLIC_KEY" -d "client_secret=$PRIVATE_KEY" >token.json
token=$(sed -E 's/.*"access_token":"([^"]+)".*/\1/' token.json)

curl -sS "$API/Products?limit=3&\$select=SKUInfo" -H "Authorization: Bearer $token"; echo
