/** An item of the list that answers every refusal and every change (contract §2, rest-protocol §5): four strings. */
export interface ResultItem {
  readonly Key: string
  readonly Value: string
  readonly Status: string
  readonly Message: string
}

export function resultItem(key: string, value: string | number, status: number, message: string): ResultItem {
  return { Key: key, Value: String(value), Status: String(status), Message: message }
}
