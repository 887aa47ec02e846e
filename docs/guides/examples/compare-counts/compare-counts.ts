// OLD_API=https://… node compare-counts.ts
const { OLD_API = '', API = '', SECURE_URL = '', PRIVATE_KEY = '', TOKEN = '' } = process.env
const headers = { SecureURL: SECURE_URL, PrivateKey: PRIVATE_KEY, Token: TOKEN }
const services = ['Products', 'Orders', 'Customers', 'Category', 'Manufacturers', 'Distributors']

async function count(api: string, service: string): Promise<number> {
  const answer = await fetch(`${api}/${service}?countonly=1`, { headers })
  if (!answer.ok) throw new Error(`${api}/${service}: ${answer.status} ${await answer.text()}`)
  const { TotalCount } = (await answer.json()) as { TotalCount: number }
  return TotalCount
}

for (const service of services) {
  const [there, here] = [await count(OLD_API, service), await count(API, service)]
  console.log(service, there, here, there === here ? 'equal' : 'DIFFERENT')
  if (there !== here) process.exitCode = 1
}
