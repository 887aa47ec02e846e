/** New values for so many products, consecutive ones of `productIds`. */
export interface Change {
  readonly field: 'Stock' | 'Description'
  readonly records: number
  readonly productIds: readonly number[]
}

const NUMBERS = 1_000_000
const sentence = 'This product is described by one sentence, again and again. '

/** The JSON of a PUT of Products, from a random product on. A product hardly has its new value already. */
export function changeBody({ field, records, productIds }: Change): string {
  const first = random(productIds.length)
  const body = Array.from({ length: records }, (_, index) => {
    const CatalogID = productIds[(first + index) % productIds.length]
    if (field === 'Stock') return { SKUInfo: { CatalogID, Stock: random(NUMBERS) } }
    return { SKUInfo: { CatalogID }, Description: `${random(NUMBERS)}. ${sentence.repeat(8)}` }
  })
  return JSON.stringify(body)
}

function random(below: number): number {
  return Math.floor(Math.random() * below)
}
