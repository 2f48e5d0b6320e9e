import { loadZones } from './time'

/* Zones for tests, as the server delivers them. */
const summer = (winter: number, changes: string[]): number[][] =>
  changes.map((at, i) => [Date.parse(at) / 1000, i % 2 === 0 ? winter + 3600 : winter])
const europe = ['2026-03-29T01:00Z', '2026-10-25T01:00Z', '2027-03-28T01:00Z', '2027-10-31T01:00Z']
loadZones({
  rules: [
    { zones: ['UTC'], offset: 0, changes: [] },
    { zones: ['Asia/Ho_Chi_Minh', 'Asia/Saigon'], offset: 7 * 3600, changes: [] },
    { zones: ['Asia/Kolkata'], offset: 5.5 * 3600, changes: [] },
    { zones: ['Pacific/Kiritimati'], offset: 14 * 3600, changes: [] },
    { zones: ['Europe/Paris', 'Europe/Berlin'], offset: 3600, changes: summer(3600, europe) },
    {
      zones: ['America/St_Johns'],
      offset: -3.5 * 3600,
      changes: summer(-3.5 * 3600, ['2026-03-08T05:30Z', '2026-11-01T04:30Z']),
    },
    {
      zones: ['America/New_York'],
      offset: -5 * 3600,
      changes: summer(-5 * 3600, ['2026-03-08T07:00Z', '2026-11-01T06:00Z', '2027-03-14T07:00Z', '2027-11-07T06:00Z']),
    },
    // British Columbia keeps UTC-7 after the summer of 2026.
    {
      zones: ['America/Vancouver', 'Canada/Pacific'],
      offset: -8 * 3600,
      changes: [[Date.parse('2026-03-08T10:00Z') / 1000, -7 * 3600]],
    },
  ],
})
