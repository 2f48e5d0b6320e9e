import { Alert, Badge, Button, FileButton, Group, SegmentedControl, Stack, Table, Text } from '@mantine/core'
import { IconAlertTriangle, IconCheck, IconFileImport, IconUpload } from '@tabler/icons-react'
import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { api, idempotencyHeader, type Schemas, unwrap } from '../../api/client'
import { Page } from '../../components/Page'
import { Empty } from '../../components/states'
import { problemText, warningText } from '../../i18n/message'
import { useAct } from '../../lib/act'
import { decode, readSheet, type Sheet } from '../../lib/csv'
import { notifyError } from '../../lib/notify'
import { refreshPosts } from '../../lib/posts'

type Result = Schemas['BulkResult']

interface File {
  name: string
  text: string
  columns: string[]
  rows: Sheet['rows']
  key: { 'Idempotency-Key': string }
}

const shown = 500 // rows in the table

const read = (name: string, text: string): File => ({ name, text, ...readSheet(text), key: idempotencyHeader() })

const send = (text: string, dry_run: boolean, mode: 'all' | 'valid', key?: File['key']): Promise<Result> =>
  unwrap(
    api.POST('/api/v1/posts/bulk', {
      params: { query: { dry_run, mode }, ...(key ? { header: key } : {}) },
      body: text,
      bodySerializer: (b) => b as string,
      headers: { 'Content-Type': 'text/csv' },
    }),
  ) as Promise<Result>

/** Posts from a spreadsheet: every row is checked and shown before anything is stored. */
export function ImportPage() {
  const { t } = useTranslation()
  const client = useQueryClient()
  const navigate = useNavigate()
  const [file, setFile] = useState<File>()
  const [show, setShow] = useState<'all' | 'wrong'>('all')
  const check = useAct({ send: (f: File) => send(f.text, true, 'valid'), done: () => undefined })
  const store = useAct({
    send: (f: File) => send(f.text, false, 'valid', f.key),
    done: ({ created }) => t('import.done', { count: created }),
    accepted: async () => {
      refreshPosts(client)
      await navigate({ to: '/calendar', search: { view: 'agenda' } })
    },
  })
  const choose = async (chosen: globalThis.File | null) => {
    if (!chosen) return
    const text = decode(await chosen.arrayBuffer())
    if (text === undefined) {
      notifyError(new Error(t('import.notUnicode', { name: chosen.name })))
      return
    }
    const f = read(chosen.name, text)
    setFile(f)
    setShow('all')
    check.mutate(f)
  }
  const result = file && check.data
  const rows = (result?.rows ?? []).filter((r) => show === 'all' || r.errors)
  const pick = (label: string, main: boolean) => (
    <FileButton
      accept=".csv,.tsv,text/csv,text/tab-separated-values"
      onChange={(f) => void choose(f)}
      inputProps={{ 'aria-label': t('import.choose') }}
    >
      {(props) => (
        <Button
          {...props}
          variant={main ? 'filled' : 'default'}
          loading={check.isPending}
          leftSection={<IconUpload size={18} aria-hidden />}
        >
          {label}
        </Button>
      )}
    </FileButton>
  )
  return (
    <Page
      title={t('import.title')}
      lead={t('import.lead')}
      actions={file ? pick(t('import.another'), false) : undefined}
    >
      {!result ? (
        <Empty
          icon={IconFileImport}
          title={t('import.none')}
          text={t('import.noneText')}
          guide="how-to/schedule-in-bulk"
        >
          {pick(t('import.choose'), true)}
          <Button
            variant="default"
            component="a"
            href={`data:text/csv;charset=utf-8,${encodeURIComponent(`\ufeff${sample}`)}`}
            download="posts.csv"
          >
            {t('import.sample')}
          </Button>
        </Empty>
      ) : (
        <Stack gap="sm">
          <Alert
            color={result.invalid > 0 ? 'orange' : 'green'}
            icon={result.invalid > 0 ? <IconAlertTriangle aria-hidden /> : <IconCheck aria-hidden />}
            role="status"
            title={t('import.checked', { count: result.total, name: file.name })}
          >
            <Group justify="space-between">
              <Text size="sm">
                {t('import.valid', { count: result.valid })}{' '}
                {result.invalid > 0 && t('import.invalid', { count: result.invalid })}
              </Text>
              <Button disabled={result.valid === 0} loading={store.isPending} onClick={() => store.mutate(file)}>
                {t('import.store', { count: result.valid })}
              </Button>
            </Group>
          </Alert>
          {result.invalid > 0 && (
            <SegmentedControl
              aria-label={t('import.show')}
              value={show}
              onChange={(v) => setShow(v as 'all' | 'wrong')}
              data={(['all', 'wrong'] as const).map((value) => ({ value, label: t(`import.shows.${value}`) }))}
              style={{ alignSelf: 'flex-start' }}
            />
          )}
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, also by keyboard */}
          <section className="dl-card" style={{ overflowX: 'auto' }} tabIndex={0} aria-label={t('import.rows')}>
            <Table miw={640} verticalSpacing="xs" aria-label={t('import.rows')}>
              <Table.Thead>
                <Table.Tr>
                  {(['row', 'time', 'text', 'result'] as const).map((c) => (
                    <Table.Th key={c}>{t(`import.columns.${c}`)}</Table.Th>
                  ))}
                </Table.Tr>
              </Table.Thead>
              <Table.Tbody>
                {rows.slice(0, shown).map((r) => (
                  <Row key={r.row} result={r} cells={file.rows.get(r.row) ?? {}} columns={file.columns} />
                ))}
              </Table.Tbody>
            </Table>
          </section>
          {rows.length > shown && <Text c="dimmed">{t('import.more', { count: rows.length - shown })}</Text>}
        </Stack>
      )}
    </Page>
  )
}

function Row({
  result: r,
  cells,
  columns,
}: {
  result: Schemas['BulkRow']
  cells: Record<string, string>
  columns: string[]
}) {
  const { t } = useTranslation()
  return (
    <Table.Tr data-row={r.row} data-valid={!r.errors}>
      <Table.Td className="dl-numbers">{r.row}</Table.Td>
      <Table.Td style={{ whiteSpace: 'nowrap' }}>{cells.scheduled_time || cells.when || '–'}</Table.Td>
      <Table.Td maw={420}>
        <Text size="sm" lineClamp={3} className="dl-text">
          {cells.content || t('post.noText')}
        </Text>
      </Table.Td>
      <Table.Td>
        {r.errors ? (
          <Stack gap={2} component="ul" m={0} p={0} style={{ listStyle: 'none' }}>
            {r.errors.map((e, i) => (
              <Text key={i} size="sm" c="var(--mantine-color-error)" component="li">
                {e.field && columns.includes(e.field.replace(/[[.].*/, '')) ? (
                  <strong>{e.field}: </strong>
                ) : e.field ? (
                  `${e.field}: `
                ) : (
                  ''
                )}
                {problemText(e)}
              </Text>
            ))}
          </Stack>
        ) : (
          <Group gap={4}>
            <Badge variant="light" color="green" tt="none" leftSection={<IconCheck size={14} aria-hidden />}>
              {t('import.fine')}
            </Badge>
            {r.warnings?.map((w, i) => (
              <Text key={i} size="sm" c="dimmed">
                {warningText(w)}
              </Text>
            ))}
          </Group>
        )}
      </Table.Td>
    </Table.Tr>
  )
}

const sample =
  'content,scheduled_time,time_zone\n"Good morning",2030-01-07T07:30,Asia/Ho_Chi_Minh\n"Bản tin tối",2030-01-07T18:00,Asia/Ho_Chi_Minh\n'
