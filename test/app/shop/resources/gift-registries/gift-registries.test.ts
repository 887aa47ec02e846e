import { expect, test } from 'vitest'
import { sharedServer } from '../../../../support/store.ts'

const server = await sharedServer()
const shop = await server.openStore()

type Wire = Record<string, unknown>

const product = (SKU: string, store = shop) => store.add('/Products', { SKUInfo: { SKU, Name: 'Kettle' } })
const registry = (...GiftRegistryItemList: Wire[]) =>
  shop.add('/GiftRegistries', { Name: 'Wedding', GiftRegistryItemList })
const read = async (id: number) => (await shop.call('GET', `/GiftRegistries/${id}`)).json()[0]

/** The ids of the registries that a filter lists. */
async function listed(query: string, store = shop): Promise<number[]> {
  const answer = await store.call('GET', `/GiftRegistries?limit=500&${query}`)
  if (answer.statusCode === 404) return []
  return answer.json().map(({ GiftRegistryID }: { GiftRegistryID: number }) => GiftRegistryID)
}

test('says how many are listed and sold, and what they cost, whatever is sent of that', async () => {
  await registry({ Listed: 100, Sold: 100 })
  const id = await registry(
    { ItemName: 'Cup', Listed: 6, Price: 2.505, Subtotal: 1, Sold: 2, SoldOffline: 3 },
    { ItemName: 'Pot', Listed: 1, Price: 40, Sold: 1 },
  )

  expect(await read(id)).toMatchObject({
    Items: 7,
    Sold: 3,
    GiftRegistryItemList: [
      { ItemName: 'Cup', Listed: 6, Price: 2.505, Subtotal: 15.03, Sold: 2, SoldOffline: 3 },
      { ItemName: 'Pot', Listed: 1, Price: 40, Subtotal: 40, Sold: 1, SoldOffline: 0 },
    ],
  })
  await shop.call('PUT', `/GiftRegistries/${id}`, { body: { Items: 99, Sold: 99, GiftRegistryItemList: [] } })

  expect(await read(id)).toMatchObject({ Items: 0, Sold: 0, GiftRegistryItemList: [] })
})

test('the sums of items stay numbers of 32 bits, which is what clients read them into', async () => {
  const most = 2_147_483_647

  const id = await registry({ Listed: most, Sold: most }, { Listed: most, Sold: 1 })

  expect(await read(id)).toMatchObject({ Items: most, Sold: most })
})

test('has one address, whose number is the registry’s; a part of it can be changed', async () => {
  const CustomerAddressBook = { CustomerAddressId: 5, FirstName: 'Anna', City: 'Malmö' }
  const id = await shop.add('/GiftRegistries', { Name: 'Anna', CustomerAddressBook })

  await shop.call('PUT', `/GiftRegistries/${id}`, { body: { CustomerAddressBook: { City: 'Lund' } } })

  const address = { CustomerAddressId: id, FirstName: 'Anna', LastName: '', City: 'Lund' }
  expect((await read(id)).CustomerAddressBook).toMatchObject(address)
  const { body } = await shop.call('GET', `/GiftRegistries/${id}`, { accept: 'application/xml' })
  expect(body).toContain(`<CustomerAddressBook><CustomerAddressId>${id}</CustomerAddressId><FirstName>Anna</FirstName>`)
})

test('catalogid and sku list the registries that hold such an item, each once, and none of another store', async () => {
  const stranger = await server.openStore()
  const [pan, lid] = [await product('Pan'), await product('Lid')]
  const both = await registry({ CatalogID: pan, SKU: 'PAN-1' }, { CatalogID: pan, SKU: 'pan-1' }, { CatalogID: lid })
  const one = await registry({ CatalogID: lid, SKU: 'LID-1' })
  await product('Pan', stranger)
  await stranger.add('/GiftRegistries', { Name: 'Other', GiftRegistryItemList: [{ SKU: 'PAN-1' }] })

  expect(await listed(`catalogid=${pan}`)).toEqual([both])
  expect(await listed(`catalogid=${lid}`)).toEqual([both, one])
  expect(await listed('sku=Pan-1')).toEqual([both])
  expect(await listed('sku=LID')).toEqual([])
  expect(await listed(`catalogid=${lid}&sku=lid-1`)).toEqual([one])
  expect(await listed('catalogid=0')).toEqual([])
  expect((await shop.call('GET', `/GiftRegistries?countonly=1&catalogid=${pan}`)).json()).toEqual({ TotalCount: 1 })
})
