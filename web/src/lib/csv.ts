import Papa from 'papaparse'

/** A row of a spreadsheet, by the line of the file where it begins. */
export interface Sheet {
  columns: string[]
  rows: Map<number, Record<string, string>>
  /** Rows that do not have a cell for each column: how many have one, and the further cells. */
  ragged: Map<number, { count: number; extra: string[] }>
}

/**
 * The text of a file that a spreadsheet saved: UTF-8, or UTF-16 with a byte order mark (Excel's "Unicode Text").
 * undefined: another encoding, such as Windows-1258, which Excel uses for "CSV". Its letters would be lost.
 */
export function decode(bytes: ArrayBuffer): string | undefined {
  const [a, b] = new Uint8Array(bytes)
  const encoding = a === 0xff && b === 0xfe ? 'utf-16le' : a === 0xfe && b === 0xff ? 'utf-16be' : 'utf-8'
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes)
  } catch {
    return undefined
  }
}

const isBlank = (cell: string) => /^[\s\p{Cf}]*$/u.test(cell)

/** Reads rows as the API does: without those that are empty, and with the separator of a first line such as "sep=;". */
export function readSheet(text: string): Sheet {
  const separator = /^sep=(.)(?=[\r\n]|$)/i.exec(text)?.[1]
  const sheet: Sheet = { columns: [], rows: new Map(), ragged: new Map() }
  let line = 1
  let at = 0
  let isFirst = true
  let columns: string[] | undefined
  Papa.parse<string[]>(text, {
    delimiter: separator ?? '',
    delimitersToGuess: [',', ';', '\t'],
    step: ({ data, meta }) => {
      const begins = line
      line += text.slice(at, meta.cursor).match(/\r\n|\r|\n/g)?.length ?? 0
      at = meta.cursor
      const isSeparatorLine = isFirst && separator !== undefined
      isFirst = false
      if (isSeparatorLine || data.every(isBlank)) return
      if (!columns) {
        columns = data.map((name) => name.replace(/^[\s\p{Cf}]+|[\s\p{Cf}]+$/gu, '').toLowerCase())
        sheet.columns = columns.filter((name) => name !== '')
        return
      }
      const row: Record<string, string> = {}
      columns.forEach((name, i) => {
        if (name) row[name] = data[i] ?? ''
      })
      sheet.rows.set(begins, row)
      const extra = data.slice(columns.length)
      while (extra.length > 0 && isBlank(extra.at(-1) ?? '')) extra.pop()
      if (data.length < columns.length || extra.length > 0)
        sheet.ragged.set(begins, { count: columns.slice(0, data.length).filter((name) => name !== '').length, extra })
    },
  })
  return sheet
}
