import { StoreFailure } from '../values/failure.ts'

/** Objects and lists inside one another; a record needs four. */
export const DEPTH_MAX = 32

/** Reads a JSON text. Throws `bad-request` that says where it is broken, or that it is nested too deep. */
export function readJson(text: string): unknown {
  if (isTooDeep(text)) {
    throw new StoreFailure('bad-request', `The body is nested deeper than ${DEPTH_MAX} levels`)
  }
  try {
    return JSON.parse(text)
  } catch (error) {
    // The engine's message tells the position, or shows the few characters around it, which are the caller's own.
    throw new StoreFailure('bad-request', `Invalid JSON: "${(error as Error).message}"`)
  }
}

const QUOTE = 0x22
const BACKSLASH = 0x5c

/** Before anything is made of it: every level costs memory. */
function isTooDeep(text: string): boolean {
  let depth = 0
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index)
    if (code === QUOTE) index = endOfString(text, index)
    else if (code === 0x7b || code === 0x5b) {
      if (++depth > DEPTH_MAX) return true
    } else if (code === 0x7d || code === 0x5d) depth--
  }
  return false
}

function endOfString(text: string, start: number): number {
  for (let index = start + 1; index < text.length; index++) {
    const code = text.charCodeAt(index)
    if (code === BACKSLASH) index++
    else if (code === QUOTE) return index
  }
  return text.length
}
