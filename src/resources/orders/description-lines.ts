const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', nbsp: ' ' }

/**
 * Splits an order line's description into lines of text: the product's name, which is stored as text, then the chosen
 * options, which are stored as HTML (rest-resources §3.4), such as `Size: L`.
 */
export function descriptionLines(description: string): string[] {
  const [name = '', ...chosen] = description.split(/<br\s*\/?>/i)
  const texts = chosen.map((html) =>
    html.replace(/<\/?b>/gi, '').replace(/&(amp|lt|gt|quot|nbsp);/g, (_, entity: string) => entities[entity] ?? ''),
  )
  return [name, ...texts]
}
