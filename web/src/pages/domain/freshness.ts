interface Dated {
  published_at?: string
  date_only: boolean
  first_seen_at: string
}

/** How long after their publication articles were found: the median of those that came out since the site is crawled; none of too few. */
export function freshness(articles: Dated[], since: string): number | undefined {
  const delays = articles
    .filter((a) => a.published_at && !a.date_only && a.published_at > since)
    .map((a) => Date.parse(a.first_seen_at) - Date.parse(a.published_at ?? ''))
    .filter((ms) => ms >= 0)
    .sort((a, b) => a - b)
  return delays.length >= 3 ? delays[Math.floor(delays.length / 2)] : undefined
}
