import sharp, { type Color } from 'sharp'

export const filled = (width: number, height: number, background: Color = 'red') =>
  sharp({ create: { width, height, channels: 3, background } })
