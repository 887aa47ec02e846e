import { isRecord } from '../../engine/definition/input.ts'
import { refused } from '../../engine/definition/refused.ts'
import type { Transaction } from '../../foundation/database/client.ts'
import type { Files } from '../../foundation/files/files.ts'
import { WIDTHS } from '../../foundation/pictures/bounds.ts'
import { NAME, openPicture, type PictureServices, pathOf, storePicture } from './pictures.ts'

/** Writes the pictures of a store as transfer lines, each in its largest width, one at a time, and returns how many. */
export async function exportPictures(
  db: Transaction,
  files: Files,
  storeId: number,
  write: (line: string) => Promise<void>,
): Promise<number> {
  let count = 0
  for (const { name } of await db.picture.findMany({ where: { storeId, isWhole: true }, select: { name: true } })) {
    const file = await openPicture(files, storeId, name, WIDTHS[0], false)
    if (file === null) continue
    const bytes = Buffer.concat(await Array.fromAsync(file.bytes)).toString('base64')
    await write(`${JSON.stringify({ picture: pathOf(storeId, name), bytes })}\n`)
    count++
  }
  return count
}

const ADDRESS = /https?:\/\/[^\s"\\/]+\/files\/\d+\/([\w-]{22})\//g

/** Takes the pictures of transfer lines into a store, under the names that they have. */
export function takePictures(services: PictureServices, storeId: number) {
  const names = new Set<string>()
  return {
    /** Returns false for a line without a picture. Throws as `storePicture` does, and (400) for a line that cannot be read. */
    store: async (content: unknown): Promise<boolean> => {
      if (!isRecord(content) || !('picture' in content)) return false
      const [, , name] = NAME.exec(String(content.picture)) ?? []
      if (name === undefined || typeof content.bytes !== 'string') {
        throw refused('picture', 'picture must be the path of a picture, and bytes its content as Base64')
      }
      await storePicture(services, storeId, Buffer.from(content.bytes, 'base64'), `${content.picture}`, name)
      names.add(name)
      return true
    },
    /** Makes addresses of the pictures so far those of the store, whatever host and store they name. */
    rewrite: (text: string): string =>
      text.replaceAll(ADDRESS, (address, name: string) =>
        names.has(name) ? `${services.config.publicUrl}/files/${storeId}/${name}/` : address,
      ),
  }
}
