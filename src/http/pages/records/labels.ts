import { labelOf } from '../../../foundation/texts/label.ts'

/** The name of an item of a list, such as `Image gallery` of `ImageGalleryList`. */
export function itemLabel(name: string, typeName = ''): string {
  return labelOf(name.replace(/s?List$/, ''), typeName)
}

/** A title as a part of an address, such as `price-levels`. */
export function slugOf(title: string): string {
  return title.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-')
}
