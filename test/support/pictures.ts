import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import sharp, { type Color } from 'sharp'
import { afterAll } from 'vitest'

/** A folder for the pictures of a test file, which goes with it. */
export function pictureFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'pictures-'))
  afterAll(() => rmSync(folder, { recursive: true }))
  return folder
}

export const filled = (width: number, height: number, background: Color = 'red') =>
  sharp({ create: { width, height, channels: 3, background } })
