import { escapeXml } from '../xml/text.ts'

/** An element with content that is XML already. */
export function element(name: string, content: string): string {
  return `<${name}>${content}</${name}>`
}

/** An element with text. */
export function textElement(name: string, text: string): string {
  return element(name, escapeXml(text))
}

/** The root of a result: in no namespace, whatever surrounds it. */
export function rootElement(name: string, content: string): string {
  return rootPieces(name, [content]).join('')
}

/** The same around records, each a piece. */
export function rootPieces(name: string, records: readonly string[]): readonly string[] {
  return [`<${name} xmlns="">`, ...records, `</${name}>`]
}
