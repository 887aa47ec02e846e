// The program of the child process that decodes pictures (decoder.ts). It has no settings, secrets or connections.
import { existsSync, writeFileSync } from 'node:fs'
import sharp, { type Metadata, type Sharp } from 'sharp'
import { MEMORY_BYTES_MAX, PIXELS_MAX, type Refusal, WIDTHS } from './bounds.ts'

export interface PictureFile {
  readonly width: number
  readonly extension: 'webp' | 'jpg' | 'png'
  readonly bytes: Uint8Array
}

/** The width and height are those of the picture as it was sent, upright. */
export type Answer =
  | { readonly width: number; readonly height: number; readonly files: readonly PictureFile[] }
  | { readonly refusal: Refusal }

const formats = ['jpeg', 'png', 'webp', 'gif', 'heif']
const loaders = ['Jpeg', 'Png', 'Webp', 'Nsgif', 'Heif'].map((name) => `VipsForeignLoad${name}`)

/** Linux alone has it. Anybody may raise their own. */
const SCORE = '/proc/self/oom_score_adj'

/** How often its memory is looked at. A picture of the largest size takes a hundred times as long. */
const WATCHED_MS = 20

// Where a container has no memory left, the kernel ends this process and not the server.
if (existsSync(SCORE)) writeFileSync(SCORE, '1000')

sharp.block({ operation: ['VipsForeignLoad'] })
sharp.unblock({ operation: loaders })
sharp.cache(false)
sharp.concurrency(1)

setInterval(() => {
  if (process.memoryUsage.rss() > MEMORY_BYTES_MAX) process.exit(1)
}, WATCHED_MS)

process.on('message', async (sent: Uint8Array) => {
  process.send?.(await decode(sent).catch((): Answer => ({ refusal: 'damaged' })))
})
process.on('disconnect', () => process.exit())

async function decode(sent: Uint8Array): Promise<Answer> {
  const metadata = sharp(sent, { limitInputPixels: false }).metadata()
  const { format, compression, autoOrient, pages = 1 } = await metadata.catch((): Partial<Metadata> => ({}))
  const isKnown = formats.includes(format ?? '') && (format !== 'heif' || compression === 'av1')
  if (!isKnown || !autoOrient) return { refusal: 'format' }
  const { width, height } = autoOrient
  if (width * height * pages > PIXELS_MAX) return { refusal: 'pixels' }
  // Decoded once; the others are made of the largest.
  const [largest] = WIDTHS
  const { data, info } = await fitted(sharp(sent, { limitInputPixels: PIXELS_MAX }).autoOrient(), largest)
    .toColourspace('srgb')
    .raw()
    .toBuffer({ resolveWithObject: true })
  const raw = { width: info.width, height: info.height, channels: info.channels }
  const isOpaque = info.channels === 3 || info.channels === 1 || (await sharp(data, { raw }).stats()).isOpaque
  const files: PictureFile[] = []
  for (const each of WIDTHS) {
    const made = fitted(sharp(data, { raw }), each)
    files.push({ width: each, extension: 'webp', bytes: await made.clone().webp({ quality: 80 }).toBuffer() })
    if (isOpaque)
      files.push({ width: each, extension: 'jpg', bytes: await made.removeAlpha().jpeg({ quality: 82 }).toBuffer() })
    else files.push({ width: each, extension: 'png', bytes: await made.png({ palette: true }).toBuffer() })
  }
  return { width, height, files }
}

/** At most so wide and twice as high. Nothing is made larger. */
function fitted(picture: Sharp, width: number): Sharp {
  return picture.resize({ width, height: width * 2, fit: 'inside', withoutEnlargement: true })
}
