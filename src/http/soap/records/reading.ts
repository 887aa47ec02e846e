import { childElements, isNil, localName, textOf, type XmlElement } from '../../../foundation/xml/read.ts'

/** A record as its elements show it: wire names, and values as texts. */
export type Given = Record<string, unknown>

/** Finds the ids of records that elements name by a text. 0: none has it. */
export interface Names {
  status(text: string): number
  customerGroup(name: string): number
  manufacturer(name: string): number
  distributor(name: string): number
  product(sku: string): number
  /** The product of an order's item, whose SKU may end in the suffix of an advanced option. */
  soldProduct(sku: string, name: string): number
}

/** The content of an element. Each element in it is taken once; those with one name come in their order. */
export interface Content {
  /** The text. Throws `bad-request` where there are elements. */
  readonly text: string
  readonly hasElements: boolean
  /** Whether an element of this name is left. */
  has(name: string): boolean
  /** Undefined: no element of this name is left, or it has `xsi:nil`. */
  take(name: string): Content | undefined
  takeAll(name: string): Content[]
  /** What nobody has taken and is not empty, by name. */
  rest(): [name: string, content: Content][]
}

export function contentOf(element: XmlElement): Content {
  const left = new Map<string, XmlElement[]>()
  const children = childElements(element)
  for (const child of children) {
    const name = localName(child.name)
    const sameName = left.get(name)
    if (sameName === undefined) left.set(name, [child])
    else sameName.push(child)
  }
  return {
    get text() {
      return textOf(element, localName(element.name))
    },
    hasElements: children.length > 0,
    has: (name) => (left.get(name)?.length ?? 0) > 0,
    take: (name) => {
      const child = left.get(name)?.shift()
      return child === undefined || isNil(child) ? undefined : contentOf(child)
    },
    takeAll: (name) => {
      const all = left.get(name) ?? []
      left.delete(name)
      return all.filter((child) => !isNil(child)).map(contentOf)
    },
    rest: () =>
      [...left].flatMap(([name, same]) =>
        same.filter(({ content }) => content.length > 0).map((child): [string, Content] => [name, contentOf(child)]),
      ),
  }
}

/** The content that has every element once. */
const everything: Content = {
  text: '1',
  hasElements: true,
  has: () => true,
  take: () => everything,
  takeAll: () => [everything],
  rest: () => [],
}

const one = () => 1
const anyName: Names = {
  status: one,
  customerGroup: one,
  manufacturer: one,
  distributor: one,
  product: one,
  soldProduct: one,
}

/** Returns a record with every field that can be read from elements, whatever its value. */
export function readableFields(elements: { read(content: Content, record: Given, names: Names): void }): Given {
  const record = newGiven()
  elements.read(everything, record, anyName)
  return record
}

/** Without a prototype, because others choose the names of elements. */
export function newGiven(): Given {
  return Object.create(null)
}
