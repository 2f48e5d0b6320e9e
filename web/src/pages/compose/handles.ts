/** The handle that is being typed after an @ before the cursor, from two characters. */
export function typedHandle(text: string, cursor: number): { at: number; name: string } | undefined {
  const found = /(?:^|[^\p{L}\p{N}_@])@([\p{L}\p{N}_][\p{L}\p{N}_.@-]{1,39})$/u.exec(
    text.slice(Math.max(0, cursor - 42), cursor),
  )
  const name = found?.[1]
  return name === undefined ? undefined : { at: cursor - name.length - 1, name }
}
