/** Makes an item of the list that answers every refusal and every change (contract §2, rest-protocol §5): four strings. */
export function resultItem(key: string, value: string | number, status: number, message: string) {
  return { Key: key, Value: String(value), Status: String(status), Message: message }
}

export type ResultItem = Readonly<ReturnType<typeof resultItem>>
