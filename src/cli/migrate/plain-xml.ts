import { childElements, isNil, localName, textOf, type XmlElement } from '../../foundation/xml/read.ts'

/** Converts an element to what JSON would have: a text, null for `xsi:nil`, or an object, with lists for repeated names. */
export function plainOf(element: XmlElement): unknown {
  if (isNil(element)) return null
  const children = childElements(element)
  if (children.length === 0) return textOf(element, localName(element.name))
  const members: Record<string, unknown> = Object.create(null)
  for (const child of children) {
    const name = localName(child.name)
    const value = plainOf(child)
    const earlier = members[name]
    if (earlier === undefined) members[name] = value
    else if (Array.isArray(earlier)) earlier.push(value)
    else members[name] = [earlier, value]
  }
  return members
}
