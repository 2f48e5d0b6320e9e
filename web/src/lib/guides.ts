/** Guides that exist in Vietnamese, by the English page. */
export const vietnamese: Record<string, string> = {
  'how-to/add-a-site': 'vi/doc-gia',
  'how-to/add-a-source': 'vi/tin-tuc',
  'how-to/post-articles-by-rule': 'vi/quy-tac',
  'how-to/resolve-dead-letters': 'vi/bai-can-xu-ly',
  'how-to/save-a-search': 'vi/tin-tuc',
  'how-to/schedule-in-bulk': 'vi/viet-va-len-lich',
}

/** The page of a guide in a language, or the English one, and its language. */
export function guidePage(guide: string, language: string): [page: string, language: string] {
  const translated = language === 'vi' ? vietnamese[guide] : undefined
  return translated ? [translated, 'vi'] : [guide, 'en']
}
