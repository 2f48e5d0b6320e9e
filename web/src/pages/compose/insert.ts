/** Inserts a text where the cursor is, with white space to what is before and behind it. */
export function insertAt(content: string, cursor: number, text: string): string {
  const before = content.slice(0, cursor)
  const after = content.slice(cursor)
  const left = before === '' || /\s$/.test(before) ? '' : ' '
  const right = after === '' || /^\s/.test(after) ? '' : ' '
  return before + left + text + right + after
}
