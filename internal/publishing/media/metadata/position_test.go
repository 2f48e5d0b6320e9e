package metadata

import (
	"encoding/binary"
	"testing"
	"unicode/utf16"
)

func TestHasPosition_RecognizesForms(t *testing.T) {
	for _, text := range []string{
		"$GPRMC,101112.00,A,2101.7100,N,10551.2520,E,0.02,,221126,,,A*7B",
		"$GNGGA,101112,2101.71,N,10551.25,E,1,08,0.9,15,M,,M,,*47",
		"$GLGLL,2101.7100,N,10551.2520,E,101112,A*00",
		"HOME(105.8542,21.0285) 2026.11.22 10:11:12",
		"GPS(105.8542,21.0285,15)",
		"GPS (105.854, 21.028, 15)",
		"lat: 21.0285 lon: 105.8542",
		`{"lat":21.0285,"lng":105.8542}`,
		`<trkpt lat="21.0285" lon="105.8542">`,
		"[latitude: 21.0] [longtitude: 105.8]", "[longitude: 105.854] [latitude: 21.028]",
		"latitude=210285000 longitude=1058542000", "<LatitudeDegrees>21.02851</LatitudeDegrees>",
		"vĩ độ 21,0285, kinh độ 105,8542", "21.0285, 105.8542", "-33.85678 151.21529", "21,02850; 105,85420",
		"geo:21.0285,105.8542;u=15", "21.0285\n105.8542", "21.0285\u00A0105.8542",
		"2026-11-22,10:11,21.0285,105.8542,15", "21.0285+105.8542", "<i>21.0285</i>, <i>105.8542</i>",
		"+21.0285+105.8542/", "+210142.6+1055115.1/", "-33.8567+151.2152+015.3/", "N21.0285 E105.8542",
		"N:2101.7100 E:10551.2520", "21.0285 N, 105.8542 E", "21,0285°B 105,8542°Đ", "E105.8542 N21.0285",
		`21°01'42.6"N 105°51'15.1"E`, "21° 01′ 42″ N, 105° 51′ 15″ E", "N 21° 01.710' E 105° 51.252'",
		`21 deg 1' 42.60" N, 105 deg 51' 15.12" E`,
	} {
		if !hasPosition([]byte(text)) {
			t.Errorf("%q: got no position", text)
		}
		encoded := []byte{0, byte(len(text))}
		for _, c := range utf16.Encode([]rune(text)) {
			encoded = binary.BigEndian.AppendUint16(encoded, c)
		}
		if isASCII(text) && !hasPosition(encoded) {
			t.Errorf("%q as UTF-16: got no position", text)
		}
	}
}

func isASCII(s string) bool {
	for _, r := range s {
		if r > 127 {
			return false
		}
	}
	return true
}

func TestHasPosition_IgnoresOrdinaryText(t *testing.T) {
	for _, text := range []string{
		"The commission has little latitude here.", "Storm at latitude 21 and longitude 105, says the bureau.",
		"Kinh độ và vĩ độ là gì?", "The GPS: how it works", "1:23.456 --> 1:25.789", "00:00:01.500 --> 00:00:04.000",
		"He ran 9.581, then 9.632 seconds.", "Prices rose by 3.25, 4.75 and 5.10 percent.",
		"Pi is 3.14159, e is 2.71828.", "vĩ độ: 1.500 người tham gia", "Call +84-123-456-789 or +1-202-555-0143.",
		"Dân số 1.234.567, 2.345.678 người", "1,234,567, 2,345,678", "Version 10.15.7, build 19.6.0",
		"192.168.10.1, 10.0.0.1", "2026.11.22, 2026.11.23", "It was 21° C in Hanoi, 105° F in Phoenix.",
		"Score: 21-18, 105-98", "Channel 5.1, 7.1", "The result (1234.5678, 9876.5432) is out of range",
		"$100,000 and $GPRMC without a fix: $GPRMC,101112.00,V,,,,,,,221126,,,N*7B",
	} {
		if hasPosition([]byte(text)) {
			t.Errorf("%q: got a position", text)
		}
	}
}
