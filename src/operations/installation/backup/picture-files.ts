import type { Snapshot } from '../../../foundation/database/snapshot.ts'
import type { Files } from '../../../foundation/files/files.ts'
import { filesOfPicture } from '../../../shop/pictures/pictures.ts'
import { copyLine, ROWS_END, type SectionReader } from './rows.ts'

/** The form in which a backup has the files of pictures: as if a table had them, which there is not. */
const FILES = { name: 'files', columns: ['path', 'bytes'] }

const PICTURES_AT_ONCE = 1_000

/** The files of all whole pictures that the snapshot shows. One that went meanwhile is left out, as nothing says its picture. */
export async function* filesOf({ query }: Pick<Snapshot, 'query'>, files: Files): AsyncGenerator<Buffer> {
  yield Buffer.from(`${copyLine(FILES)}\n`)
  for (let [storeId, name] = [0, '']; ; ) {
    const pictures = await query<{ storeId: number; name: string }>(
      `SELECT "storeId", "name" FROM "Picture" WHERE "isWhole" AND ("storeId", "name") > ($1, $2)
       ORDER BY "storeId", "name" LIMIT ${PICTURES_AT_ONCE}`,
      [storeId, name],
    )
    for (const picture of pictures) {
      for (const path of filesOfPicture(picture.storeId, picture.name)) {
        const file = await files.open(path)
        if (file === null) continue
        const bytes = Buffer.concat(await Array.fromAsync(file.bytes))
        yield Buffer.from(`${path}\t\\\\x${bytes.toString('hex')}\n`)
      }
      ;({ storeId, name } = picture)
    }
    if (pictures.length < PICTURES_AT_ONCE) break
  }
  yield Buffer.from(ROWS_END)
}

/** Stores the files that come next. */
export async function storeFiles(reader: SectionReader, files: Files): Promise<void> {
  await reader.begin(FILES)
  let rest = ''
  for await (const chunk of reader.rows()) {
    const lines = `${rest}${chunk.toString('latin1')}`.split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) {
      const [path = '', bytes = ''] = line.split('\t\\\\x')
      await files.put(path, Buffer.from(bytes, 'hex'))
    }
  }
}
