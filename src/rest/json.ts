import { StoreFailure } from '../values/failure.ts'

/** Nested objects and lists; a record needs four levels. */
export const DEPTH_MAX = 32

/** Parses JSON. Throws `bad-request` with the position of a syntax error, or for too deep nesting. */
export function readJson(text: string): unknown {
  if (isTooDeep(text)) {
    throw new StoreFailure('bad-request', `The body is nested deeper than ${DEPTH_MAX} levels`)
  }
  try {
    return JSON.parse(text)
  } catch (error) {
    // V8's message has the position, or a few characters around it, which the caller sent.
    throw new StoreFailure('bad-request', `Invalid JSON: "${(error as Error).message}"`)
  }
}

const QUOTE = 0x22
const BACKSLASH = 0x5c

/** Checked before parsing, because every level costs memory. */
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
