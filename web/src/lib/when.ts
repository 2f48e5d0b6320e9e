import { mondayOf, toWall, type Wall, weekdayName } from './time'

/** The most common times. */
export function commonTimes(zone: string, now = Date.now()): { inOneHour: Wall; tomorrow: Wall; monday: Wall } {
  const today = toWall(now, zone).slice(0, 10)
  const plus = (date: string, days: number) =>
    new Date(Date.parse(`${date}T00:00Z`) + days * 86_400_000).toISOString().slice(0, 10)
  return {
    inOneHour: toWall(Math.ceil((now + 3_600_000) / 60_000) * 60_000, zone).slice(0, 16),
    tomorrow: `${plus(today, 1)}T09:00`,
    monday: `${plus(mondayOf(today), 7)}T09:00`,
  }
}

const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

/** Formats a time for a field; parseWhen can parse it again. */
export function formatWhen(wall: Wall, language: string): string {
  if (wall === '') return ''
  const [date = '', clock = ''] = [wall.slice(0, 10), wall.slice(11, 16)]
  const day = (new Date(`${date}T00:00Z`).getUTCDay() + 6) % 7
  const [year, month, d] = date.split('-').map(Number)
  return language === 'vi'
    ? `${weekdayName(day, 'vi', 'short')}, ${d}/${month}/${year} ${clock}`
    : `${weekdayName(day, 'en', 'short')} ${d} ${months[(month ?? 1) - 1]} ${year}, ${clock}`
}
