package extract

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The quick checks of the first letters let all labels pass.
func TestMayStart_MatchesEveryLabel(t *testing.T) {
	for _, label := range []string{
		"updated", "update:", "last update", "cập nhật", "sửa đổi", "chỉnh sửa", "sửa lần cuối", "modified",
		"last edited", "edited on", "reviewed", "revised", "zuletzt", "aktualisiert", "geändert", "mis à jour",
		"modifié le", "actualizado", "atualizado", "aggiornato", "bijgewerkt", "обновлено", "更新",
	} {
		for _, line := range []string{label, strings.ToUpper(label), "· " + label, "This was " + label} {
			require.True(t, mayStartUpdate(line+" 5/3/2026"), line)
		}
	}
	require.False(t, mayStartUpdate("5/3/2026, updated"))
	require.False(t, mayStartUpdate("The bridge is open"))
	for _, label := range []string{
		"written by", "this post was written by", "verfasst von", "geschrieben von", "ein beitrag von",
		"blog beitrag von", "escrito por", "écrit par", "rédigé par", "publié par", "scritto da", "author:", "autorin:",
		"auteur :", "tác giả:", "words by", "text by", "story by", "article by", "post by", "by ",
	} {
		require.True(t, mayStartWithWritten(label), label)
		require.True(t, mayStartWithWritten(strings.ToUpper(label)), label)
	}
}

func TestSplitNames_AtSeparators(t *testing.T) {
	for line, want := range map[string][]string{
		"Mai Lan":                        {"Mai Lan"},
		"Mai Lan and Tom Kaplan":         {"Mai Lan", "Tom Kaplan"},
		"Mai Lan, Tom Kaplan & Hà Thu":   {"Mai Lan", "Tom Kaplan", "Hà Thu"},
		"Mai Lan và Hà Thu – Tom Kaplan": {"Mai Lan", "Hà Thu", "Tom Kaplan"},
		"A;B|C/D•E\nF":                   {"A", "B", "C", "D", "E", "F"},
		"Anderson, with Tom":             {"Anderson", "with Tom"},
		"Anderson with Tom":              {"Anderson", "Tom"},
		"Mai  and Lan":                   {"Mai ", "Lan"},
		"":                               {""},
	} {
		require.Equal(t, want, splitNames(line), "%q", line)
		require.Equal(t, want[0], firstName(line), "%q", line)
	}
}

func TestNameAfterBy_AtTheStartOfALine(t *testing.T) {
	for line, want := range map[string]string{
		"By Mai Lan": "Mai Lan", "BY: Mai Lan": "Mai Lan", "by: Mai Lan": "Mai Lan", "Bài và ảnh: Mai Lan": "Mai Lan",
		"Tác giả: Mai Lan": "Mai Lan", "Von Mai Lan": "Mai Lan", "von Firmen": "Firmen", "von hier": "",
		"Автор: Иван Петров": "Иван Петров", "Publié par Mai Lan": "Mai Lan", "Auteur : Mai Lan": "Mai Lan",
		"Nearby Mai Lan": "", "": "", "Av norske kilder": "",
	} {
		require.Equal(t, want, nameAfterBy(line), "%q", line)
	}
}
