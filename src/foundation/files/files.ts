import { join } from 'node:path'
import type { Config } from '../process/settings.ts'
import { diskFiles } from './disk.ts'
import { s3Files } from './s3.ts'

export interface StoredFile {
  readonly size: number
  readonly bytes: AsyncIterable<Uint8Array>
}

/** Where pictures lie: a folder, or an S3 store. A path has no dots but that of its ending, and its folder is the number of a store. */
export interface Files {
  /** Stores a file whole or not at all, in the place of one of the same path. */
  put(path: string, bytes: Uint8Array): Promise<void>
  /** Null: there is none. */
  open(path: string): Promise<StoredFile | null>
  /** Removes a file, or the folder of a store, which is empty or of a disk. One that is not there is none to remove. */
  remove(path: string): Promise<void>
  /** Removes what processes that were killed have left. */
  tidy(): Promise<void>
}

/** Opens what FILES_DIR or S3_URL name. */
export function openFiles({ filesDir, s3Url, dataDir }: Pick<Config, 'filesDir' | 's3Url' | 'dataDir'>): Files {
  return s3Url === null ? diskFiles(filesDir ?? join(dataDir, 'files')) : s3Files(s3Url)
}
