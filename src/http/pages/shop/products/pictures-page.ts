import type { FastifyReply } from 'fastify'
import { changeRecord } from '../../../../engine/changing/change.ts'
import { getRecord } from '../../../../engine/reading/read.ts'
import { t } from '../../../../foundation/texts/text.ts'
import { products } from '../../../../shop/resources/products/products.ts'
import { allowImages } from '../../../html/guard.ts'
import type { HtmlPage } from '../../../html/page.ts'
import { type Form, textIn } from '../../../html/request.ts'
import { receivePicture } from '../../../html/upload.ts'
import { digest } from '../../../server/requests/compression.ts'
import { type Framed, ifUnchanged, type Sent } from '../../frame/pages.ts'
import { saveChanges } from '../../records/edit-page.ts'
import { IMAGES_MAX, imagesOf } from '../../records/images.ts'
import type { PagesOfPictures } from '../../records/routes.ts'
import { type ProductRecord, type ProductRequest, productService } from './special.ts'

interface Picture {
  readonly file: string
  readonly caption: string
  /** Of the gallery. */
  readonly id?: number
}

/** The members that have the first pictures, in their order; the others are in the gallery. */
const slots = [
  ['MainImageFile', 'MainImageCaption'],
  ['AdditionalImageFile2', 'AdditionalImageCaption2'],
  ['AdditionalImageFile3', 'AdditionalImageCaption3'],
  ['AdditionalImageFile4', 'AdditionalImageCaption4'],
] as const

function picturesOf(record: ProductRecord): Picture[] {
  const texts = record as unknown as Readonly<Record<string, string>>
  const first = slots.map(([file, caption]) => ({ file: texts[file] ?? '', caption: texts[caption] ?? '' }))
  const gallery = record.ImageGalleryList.toSorted((one, other) => one.ImageGallerySorting - other.ImageGallerySorting)
  const others = gallery.map((item) => ({
    file: item.ImageGalleryFile,
    caption: item.ImageGalleryCaption,
    id: item.ImageGalleryID,
  }))
  return [...first.filter(({ file }) => file.trim() !== ''), ...others]
}

/** The members of a product that has these pictures in this order. */
function membersOf(pictures: readonly Picture[]) {
  const first = slots.flatMap(([file, caption], at) => [
    [file, pictures[at]?.file ?? ''],
    [caption, pictures[at]?.caption ?? ''],
  ])
  const gallery = pictures.slice(slots.length).map(({ file, caption, id }, at) => ({
    ...(id !== undefined && { ImageGalleryID: id }),
    ImageGalleryFile: file,
    ImageGalleryCaption: caption,
    ImageGallerySorting: at + 1,
  }))
  return { ...Object.fromEntries(first), ImageGalleryList: gallery }
}

/** The pictures of a product in the order in which the shop shows them. */
async function picturesPage(
  { caller, id, record, typed, isOutdated }: ProductRequest,
  reply: FastifyReply,
): Promise<HtmlPage> {
  const { addresses, origins } = await imagesOf(productService, record, caller)
  const where = { storeId: caller.store.id, service: products.service, recordId: id }
  const fetches = await caller.db.pictureFetch.findMany({ where, orderBy: { id: 'desc' }, take: IMAGES_MAX })
  allowImages(reply, origins)
  const shown = typed === null || isOutdated || typed.File === undefined ? picturesOf(record) : typedPictures(typed)
  return {
    template: '/pages/shop/products/pictures',
    title: t('Pictures of {product}', { product: record.SKUInfo.Name }),
    values: {},
    data: {
      pictures: shown.map((picture) => ({ ...picture, address: addresses.get(picture.file.trim()) ?? null })),
      fetchOf: (file: string) => fetches.find(({ address }) => address === file.trim()),
      action: `/admin/products/${id}/pictures`,
    },
  }
}

/** In the order of the form's rows, after what its button does. */
function typedPictures(typed: Form): Picture[] {
  const [files, captions, ids] = ['File', 'Caption', 'ImageID'].map((name) => [typed[name] ?? []].flat())
  const all = (files ?? []).map((file, at) => {
    const id = Number(ids?.[at] ?? 0)
    return { file, caption: captions?.[at] ?? '', ...(id > 0 && { id }) }
  })
  const [, what = '', place = '0'] = /^(up|down|remove)-(\d{1,6})$/.exec(textIn(typed, 'do')) ?? []
  const at = Number(place)
  const [moved] = what === '' ? [] : all.splice(at, 1)
  if (moved && what !== 'remove') all.splice(what === 'up' ? Math.max(0, at - 1) : at + 1, 0, moved)
  return all
}

async function savePictures(asked: Sent<ProductRequest>): Promise<string> {
  const advice = 'The page shows the pictures as they are now. Make your changes again'
  const changesIn = () => ({ body: membersOf(typedPictures(asked.typed)), nameOf: (field: string) => field })
  await saveChanges(asked, productService, { changesIn, advice })
  return `/admin/products/${asked.id}/pictures?notice=record-saved`
}

/** Adds the page of a product's pictures, and the form that adds one. */
export function picturePages(
  services: PagesOfPictures,
  { pair, upload }: Pick<Framed<ProductRequest>, 'pair' | 'upload'>,
): void {
  const address = '/admin/products/:id/pictures'
  pair(address, picturesPage, savePictures)
  upload(`${address}/file`, picturesPage, async ({ caller, id }, reply) => {
    await receivePicture(reply, services, caller.store.id, async (path) => {
      const text = await getRecord(caller, products, id)
      const added = { file: `${services.config.publicUrl}${path}`, caption: '' }
      const change = { kind: 'update', id, body: membersOf([...picturesOf(JSON.parse(text)), added]) } as const
      // The change says all pictures: one that came meanwhile would be lost.
      const precondition = ifUnchanged({ etag: digest(text) }, productService.one.key, 'Send the picture again')
      await changeRecord(caller, products, change, { precondition })
    })
    return `/admin/products/${id}/pictures?notice=record-saved`
  })
}
