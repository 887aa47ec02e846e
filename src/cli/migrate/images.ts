import { thumbnailIn } from '../../shop/pictures/pictures.ts'
import { createProgress, figure } from '../progress.ts'
import { Refusal } from '../server.ts'
import type { Target } from './target.ts'

/** Has the server fetch the pictures that the records name below `shop`, one after another, and prints which could not be. Returns whether all are stored. */
export async function fetchImages(target: Target, shop: string, print: (text: string) => void): Promise<boolean> {
  const base = `${/^https?:/i.test(shop) ? shop : `https://${shop}`}/`
  const isElsewhere = (text: string) => text !== '' && thumbnailIn(text, target.store.Id) === null
  const texts = [...(await target.images())].filter(isElsewhere)
  const progress = createProgress({ label: 'Pictures', total: texts.length })
  const failed: string[] = []
  for (const text of texts) {
    const asked = target.fetch({ Path: text, Address: URL.parse(text, base)?.href ?? text })
    const reason = await asked.catch((error) => (error instanceof Refusal ? error.message : Promise.reject(error)))
    if (reason !== '') failed.push(`  ${text}: ${reason}\n`)
    progress.advance(1)
  }
  progress.done()
  const stored = figure(texts.length - failed.length)
  print([`${stored} pictures are stored, ${figure(failed.length)} could not be fetched\n`, ...failed].join(''))
  return failed.length === 0
}
