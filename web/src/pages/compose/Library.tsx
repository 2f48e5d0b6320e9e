import { Box, Button, Group, SegmentedControl, SimpleGrid, Stack, Text, TextInput, UnstyledButton } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { IconCheck, IconPhoto, IconSearch } from '@tabler/icons-react'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { Media } from '../../api/client'
import { Empty, Failed, WaitingCards } from '../../components/states'
import { Modal } from '../../components/Modal'
import { type MediaChoice, mediaKinds, useMediaList } from '../../lib/media'
import { Thumb } from './Thumb'

/** Selects files of the library. */
export function Library({ has, close, choose }: { has: string[]; close: () => void; choose: (all: Media[]) => void }) {
  const { t } = useTranslation()
  const [kind, setKind] = useState<MediaChoice>('all')
  const [typed, setTyped] = useState('')
  const [q] = useDebouncedValue(typed.trim(), 250)
  const [chosen, setChosen] = useState<Media[]>([])
  const list = useMediaList(kind, q)
  const files = list.data?.pages.flatMap((p) => p.media) ?? []
  const toggle = (m: Media) =>
    setChosen((all) => (all.some((c) => c.id === m.id) ? all.filter((c) => c.id !== m.id) : [...all, m]))
  return (
    <Modal opened onClose={close} size="xl" title={t('library.title')} closeButtonProps={{ 'aria-label': t('close') }}>
      <Stack>
        <Group gap="sm">
          <TextInput
            aria-label={t('media.search')}
            placeholder={t('media.search')}
            leftSection={<IconSearch size={16} aria-hidden />}
            value={typed}
            onChange={(e) => setTyped(e.currentTarget.value)}
            flex={1}
            miw={160}
            data-autofocus
          />
          <SegmentedControl
            aria-label={t('media.kind')}
            value={kind}
            onChange={(v) => setKind(v as MediaChoice)}
            data={mediaKinds.map((value) => ({ value, label: t(`media.kinds.${value}`) }))}
          />
        </Group>
        {list.error ? (
          <Failed error={list.error} retry={() => void list.refetch()} />
        ) : !list.data ? (
          <WaitingCards height={130} cols={{ base: 2, xs: 3, sm: 4 }} cards={8} />
        ) : files.length === 0 ? (
          <Empty
            icon={IconPhoto}
            title={t(q || kind !== 'all' ? 'media.nothing' : 'media.none')}
            text={t(q || kind !== 'all' ? 'media.nothingText' : 'library.noneText')}
          />
        ) : (
          <SimpleGrid cols={{ base: 2, xs: 3, sm: 4 }} spacing="sm">
            {files.map((m) => {
              const taken = has.includes(m.id)
              const at = chosen.findIndex((c) => c.id === m.id)
              return (
                <UnstyledButton
                  key={m.id}
                  className="dl-card dl-choice"
                  disabled={taken}
                  aria-pressed={taken || at >= 0}
                  onClick={() => toggle(m)}
                  data-file={m.file_name}
                >
                  <Box h={100} pos="relative">
                    <Thumb media={m} />
                    {(taken || at >= 0) && (
                      <Group className="dl-chosen" justify="center" aria-hidden>
                        {taken ? <IconCheck size={16} /> : at + 1}
                      </Group>
                    )}
                  </Box>
                  <Text size="xs" truncate p={6}>
                    {m.file_name}
                  </Text>
                </UnstyledButton>
              )
            })}
          </SimpleGrid>
        )}
        {list.hasNextPage && (
          <Button
            variant="default"
            size="xs"
            loading={list.isFetchingNextPage}
            onClick={() => void list.fetchNextPage()}
            style={{ alignSelf: 'center' }}
          >
            {t('more')}
          </Button>
        )}
        <Group justify="flex-end">
          <Button variant="default" onClick={close}>
            {t('cancel')}
          </Button>
          <Button
            disabled={chosen.length === 0}
            onClick={() => {
              choose(chosen)
              close()
            }}
          >
            {t('library.attach', { count: chosen.length })}
          </Button>
        </Group>
      </Stack>
    </Modal>
  )
}
