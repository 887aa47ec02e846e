/** The widths that are made of every picture, in pixels, the largest first. */
export const WIDTHS = [1920, 960, 480, 160] as const
export const THUMBNAIL_WIDTH = 160

/** What a picture may be, by its content. */
export const PICTURE_TYPES = ['image/jpeg', 'image/png', 'image/webp', 'image/avif', 'image/gif'] as const

export const PICTURE_BYTES_MAX = 10 * 1024 * 1024
/** Of all frames. */
export const PIXELS_MAX = 40_000_000

export const MEMORY_BYTES_MAX = 640 * 1024 * 1024
export const DECODING_MS_MAX = 20_000

/** Why a file is no picture of a store, as a sentence without its subject. */
export const refusals = {
  format: 'must be a JPEG, PNG, WebP, AVIF or GIF picture',
  pixels: 'must have 40 million pixels at most, all frames together',
  damaged: 'is cut off or damaged',
  effort: 'takes too much memory or time to decode; make it smaller',
} as const
export type Refusal = keyof typeof refusals
