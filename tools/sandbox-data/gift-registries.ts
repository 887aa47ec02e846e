import { lastDay, localDate } from './calendar.ts'
import { between, happens, oneOf, someOf } from './chance.ts'
import { personAt } from './customers.ts'
import { dollars } from './money.ts'
import { type Address, makeAddress } from './places.ts'
import type { Product } from './products.ts'

interface Occasion {
  readonly name: (of: Address) => string
  readonly message: string
}

const occasions: readonly Occasion[] = [
  {
    name: ({ firstName, lastName }) => `Wedding of ${firstName} ${lastName}`,
    message: 'Thank you for being with us! Nothing here is a must.',
  },
  { name: ({ lastName }) => `A home for the ${lastName} family`, message: 'We are moving out of the boxes at last.' },
  { name: ({ firstName }) => `${firstName} turns forty`, message: '' },
  { name: ({ firstName }) => `Baby shower for ${firstName}`, message: 'Green and yellow, please – no names yet.' },
  { name: ({ firstName }) => `Little things for ${firstName}’s kitchen`, message: 'Any color but brown.' },
]

const firstDay = lastDay - 300

/** Two of each occasion, in the order in which they were made; of some the day has been, of others it is to come. */
export function makeGiftRegistries(products: readonly Product[]): Record<string, unknown>[] {
  const wished = products.filter(
    ({ isOffered, weight, createdAt }) => isOffered && weight > 0 && createdAt < localDate(firstDay, 0),
  )
  return [...occasions, ...occasions]
    .map((occasion) => ({ occasion, day: between(firstDay, lastDay - 5) }))
    .sort((one, other) => one.day - other.day)
    .map(({ occasion, day }, index) => makeGiftRegistry(index + 1, occasion, day, wished))
}

function makeGiftRegistry(id: number, { name, message }: Occasion, day: number, wished: readonly Product[]) {
  const address = makeAddress()
  const eventDay = day + between(30, 200)
  return {
    CustomerAddressBook: personAt(address),
    GiftRegistryID: id,
    Name: name(address),
    Created: localDate(day, between(480, 1_260), between(0, 59)),
    LastUpdate: localDate(between(day + 1, lastDay), between(480, 1_260), between(0, 59)),
    Expires: localDate(eventDay + 30, 720),
    Event: localDate(eventDay, 720),
    Message: message,
    ShipToAddress: happens(70),
    GiftRegistryItemList: someOf(wished, between(3, 8)).map(makeItem),
  }
}

function makeItem({ id, sku, name, saleCents, priceCents }: Product) {
  const listed = oneOf([1, 1, 1, 2, 4, 6])
  const sold = between(0, listed)
  return {
    CatalogID: id,
    SKU: sku,
    ItemName: name,
    Listed: listed,
    Price: dollars(saleCents || priceCents),
    Sold: sold,
    SoldOffline: sold < listed && happens(20) ? 1 : 0,
  }
}
