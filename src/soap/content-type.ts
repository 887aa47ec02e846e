/** A parameter of a Content-Type, without quotes; empty: there is none. Takes time in proportion to the header. */
export function contentTypeParameter(contentType: string, wanted: string): string {
  for (const parameter of contentType.split(';').slice(1)) {
    const at = parameter.indexOf('=')
    if (at === -1 || parameter.slice(0, at).trim().toLowerCase() !== wanted) continue
    return parameter
      .slice(at + 1)
      .trim()
      .replace(/^["']|["']$/g, '')
  }
  return ''
}
