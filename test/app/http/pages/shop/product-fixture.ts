import { merchantIn } from '../../../../support/signed-in.ts'
import type { TestServer } from '../../../../support/store.ts'

/** A new store, its merchant, and short ways to add and read its records. */
export async function openShop(server: TestServer) {
  const shop = await server.openStore()
  const merchant = await merchantIn(server, shop.store)
  const read = async (service: string, id: number) => (await shop.call('GET', `/${service}/${id}`)).json()[0]
  return { shop, merchant, add: shop.add, read }
}

export type Shop = Awaited<ReturnType<typeof openShop>>

/** A shirt in two sizes and two colors, of which one combination exists. */
export async function addShirt({ add, shop, read }: Shop) {
  const set = (OptionSetName: string, names: readonly string[]) => ({
    OptionSetName,
    OptionType: 'Dropdown',
    OptionList: names.map((OptionName) => ({ OptionName, OptionPartNumber: OptionName.slice(0, 1) })),
  })
  const id = await add('/Products', {
    SKUInfo: { SKU: 'SHIRT', Name: 'Linen shirt', Price: 20, Stock: 5 },
    OptionSetList: [set('Size', ['Small', 'Large']), set('Color', ['Red', 'Blue'])],
  })
  const { OptionSetList } = await read('Products', id)
  const [sizes, colors] = OptionSetList.map((each: { OptionList: { OptionID: number }[] }) =>
    each.OptionList.map(({ OptionID }) => OptionID),
  )
  const codes = sizes.flatMap((size: number) => colors.map((color: number) => `${size},${color}`)) as string[]
  const AdvancedOptionList = [
    {
      AdvancedOptionCode: codes[0],
      AdvancedOptionSufix: '-S-R',
      AdvancedOptionName: 'Small red',
      AdvancedOptionStock: 7,
    },
  ]
  await shop.call('PUT', `/Products/${id}`, { body: { AdvancedOptionList } })
  return { id, codes }
}
