// node first-call.ts
const { API = '', SECURE_URL = '', PRIVATE_KEY = '', TOKEN = '' } = process.env

interface Product {
  SKUInfo: { CatalogID: number; SKU: string; Name: string; Price: number; Stock: number }
}

const answer = await fetch(`${API}/Products?limit=5`, {
  headers: { SecureURL: SECURE_URL, PrivateKey: PRIVATE_KEY, Token: TOKEN },
})
if (!answer.ok) throw new Error(`${answer.status} ${await answer.text()}`)
const products = (await answer.json()) as Product[]
for (const { SKUInfo } of products) console.log(SKUInfo.SKU, SKUInfo.Price, SKUInfo.Stock)
