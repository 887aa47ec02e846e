import { beforeEach, expect, test } from 'vitest'
import { sharedServer } from '../../../../support/store.ts'
import { openShop, type Shop } from './product-fixture.ts'

let open: Shop
let ids: Record<'home' | 'garden' | 'chairs' | 'sale', number>

const server = await sharedServer()
beforeEach(async () => {
  open = await openShop(server)
  const home = await open.add('/Category', { CategoryName: 'Home' })
  const garden = await open.add('/Category', { CategoryName: 'Garden', CategoryParent: home })
  const chairs = await open.add('/Category', { CategoryName: 'Chairs', CategoryParent: garden, Hide: true })
  const sale = await open.add('/Category', { CategoryName: 'Sale', Sorting: -1 })
  ids = { home, garden, chairs, sale }
})

const words = (html: string) => html.replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' ')

test('the tree nests categories in the order of the shop, with hidden ones and their products', async () => {
  const SKUInfo = { SKU: 'CHAIR', Name: 'Chair' }
  await open.add('/Products', { SKUInfo, CategoryList: [{ CategoryID: ids.chairs }] })
  const { body } = await open.merchant.open('/admin/categories/tree')
  expect(words(body)).toContain(
    'Sale Add below Home 1 product Add below 1 below Home Garden 1 product Add below 1 below Garden Chairs hidden 1 product Add below',
  )
  for (const id of Object.values(ids)) expect(body).toContain(`<a href="/admin/category/${id}">`)
  const below = (await open.merchant.open(`/admin/categories/tree?below=${ids.garden}`)).body
  expect(words(below)).toContain('All / Home / Garden Chairs hidden 1 product')
  expect((await open.merchant.open('/admin/category')).body).toContain('href="/admin/categories/tree"')
})

test('a category below one begins with its parent', async () => {
  const { body } = await open.merchant.open(`/admin/category/new?CategoryParent=${ids.garden}`)
  expect(/<input id="CategoryParent"[^>]*>/.exec(body)?.[0]).toContain(`value="${ids.garden}"`)
})

test('categories in a circle, and very deep ones, do not hang the pages', async () => {
  const storeId = open.shop.store.id
  let parent = ids.chairs
  for (let depth = 0; depth < 20; depth++) {
    parent = await open.add('/Category', { CategoryName: `Level ${depth}`, CategoryParent: parent })
  }
  const deep = (await open.merchant.open('/admin/categories/tree')).body
  expect(deep).toMatch(/<a href="\/admin\/categories\/tree\?below=\d+">The categories below <bdi>Level 8<\/bdi>/)
  await server.services.db.category.update({
    where: { storeId_id: { storeId, id: ids.home } },
    data: { parentId: ids.chairs },
  })
  const circle = await open.merchant.open(`/admin/categories/tree?below=${ids.garden}`)
  expect(words(circle.body)).toContain('Chairs hidden')
  expect((await open.merchant.open(`/admin/category/${ids.home}`)).statusCode).toBe(200)
})

test.each(['x', '0', '99999999999', '4000'])('there is no tree below %s', async (below) => {
  expect((await open.merchant.open(`/admin/categories/tree?below=${below}`)).statusCode).toBe(404)
})

test('products are found, and changed, by category with those below it, and by manufacturer', async () => {
  const { merchant, shop } = open
  const maker = await open.add('/Manufacturers', { ManufacturerName: 'Oak & Sons' })
  const add = (name: string, categories: readonly number[], others = {}) =>
    open.add('/Products', {
      SKUInfo: { SKU: name, Name: name, Price: 10 },
      CategoryList: categories.map((CategoryID) => ({ CategoryID })),
      ...others,
    })
  await add('Chair', [ids.chairs, ids.garden])
  await add('Bench', [ids.garden, ids.sale], { ManufacturerID: maker })
  await add('Lamp', [], { ManufacturerID: maker })
  const found = async (query: string) => {
    const answer = await shop.call('GET', `/Products?${query}`)
    return answer.statusCode === 404 ? [] : answer.json().map((each: { SKUInfo: { SKU: string } }) => each.SKUInfo.SKU)
  }
  expect(await found(`categoryid=${ids.home}`)).toEqual(['Chair', 'Bench'])
  expect(await found(`categoryid=${ids.chairs}&categoryid=${ids.sale}`)).toEqual(['Chair', 'Bench'])
  expect(await found(`categoryid=${ids.sale}&manufacturerid=${maker}`)).toEqual(['Bench'])
  expect(await found(`manufacturerid=${maker}`)).toEqual(['Bench', 'Lamp'])
  expect(await found('categoryid=4000')).toEqual([])
  expect((await shop.call('GET', '/Products?categoryid=garden')).body).toContain('categoryid')

  const listed = (await merchant.open(`/admin/products?categoryid=${ids.garden}`)).body
  expect(listed).toContain(`<option value="${ids.garden}" selected>\u2003Garden</option>`)
  expect(listed).toContain(`<option value="${maker}">Oak &amp; Sons</option>`)
  expect(words(listed)).toContain('2 products')
  const tree = (await merchant.open('/admin/categories/tree')).body
  expect(tree).toContain(`<a href="/admin/products?categoryid=${ids.home}">2 products</a>`)

  for (const [page, filter] of [
    [`/admin/category/${ids.home}`, `categoryid=${ids.home}`],
    [`/admin/manufacturers/${maker}`, `manufacturerid=${maker}`],
  ] as const) {
    const { body } = await merchant.open(page)
    expect(body).toContain(`<a href="/admin/products?${filter}">2 products</a>`)
    const action = `/admin/products/bulk?${filter}`
    const { headers } = await merchant.submit(page, { all: 'true', what: 'visibility' }, { action })
    expect(headers.location).toMatch(/^\/admin\/csv\/\d+\/change#visibility$/)
    expect(words((await merchant.open(String(headers.location))).body)).toContain('2 products are chosen.')
  }
})

test('another store sees none of the categories', async () => {
  const other = await openShop(server)
  expect((await other.merchant.open('/admin/categories/tree')).body).toContain('There are no categories yet')
  expect((await other.merchant.open(`/admin/categories/tree?below=${ids.garden}`)).statusCode).toBe(404)
})

test('the categories of a product are ticked in the tree; those that stay keep their places', async () => {
  const SKUInfo = { SKU: 'CHAIR', Name: 'Chair' }
  const CategoryList = [{ CategoryID: ids.sale }, { CategoryID: ids.chairs }]
  const id = await open.add('/Products', { SKUInfo, CategoryList })
  const record = (await open.merchant.open(`/admin/products/${id}`)).body
  expect(words(record)).toContain('Home / Garden / Chairs')
  const page = `/admin/products/${id}/categories`
  const { body } = await open.merchant.open(page)
  const ticked = [...body.matchAll(/name="CategoryID" value="(\d+)" checked/g)].map(([, each]) => Number(each))
  expect(ticked).toEqual([ids.sale, ids.chairs])
  const answer = await open.merchant.submit(page, { CategoryID: [ids.home, ids.chairs, ids.sale].map(String) })
  expect(answer.headers.location).toBe(`/admin/products/${id}?notice=record-saved`)
  const stored = async () =>
    (await open.read('Products', id)).CategoryList.map((each: { CategoryID: number }) => each.CategoryID)
  expect(await stored()).toEqual([ids.sale, ids.chairs, ids.home])
  await open.merchant.submit(page, {})
  expect(await stored()).toEqual([])
})

test('a search keeps what is ticked, and an unknown category is refused', async () => {
  const id = await open.add('/Products', { SKUInfo: { SKU: 'CHAIR', Name: 'Chair' } })
  const page = `/admin/products/${id}/categories`
  const found = await open.merchant.submit(
    page,
    { Find: 'GARD', CategoryID: [String(ids.sale)] },
    { to: `${page}/find` },
  )
  expect(found.statusCode).toBe(200)
  expect(words(found.body)).toContain('Chosen Sale Found Home / Garden')
  expect(found.body).toContain(`value="${ids.sale}" checked`)
  expect(found.body).not.toContain(`value="${ids.chairs}"`)
  expect((await open.read('Products', id)).CategoryList).toEqual([])
  const refused = await open.merchant.submit(page, { CategoryID: '4000' })
  expect(refused.statusCode).toBe(400)
  expect(refused.body).toContain('refers to a record that does not exist')
})

test('does not overwrite what somebody else has chosen meanwhile', async () => {
  const id = await open.add('/Products', { SKUInfo: { SKU: 'CHAIR', Name: 'Chair' } })
  const page = `/admin/products/${id}/categories`
  const { etag = '' } = await open.merchant.formOf(page)
  await open.shop.call('PUT', `/Products/${id}`, { body: { CategoryList: [{ CategoryID: ids.garden }] } })
  const refused = await open.merchant.submit(page, { etag, CategoryID: String(ids.sale) })
  expect(refused.statusCode).toBe(412)
  expect(refused.body).toContain(`value="${ids.garden}" checked`)
  expect((await open.read('Products', id)).CategoryList).toMatchObject([{ CategoryID: ids.garden }])
})
