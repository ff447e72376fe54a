#!/bin/sh
# Chromium without the two pages that it draws for the list below the address bar of every window, which nobody sees
# here: half of what a window costs. Only the last list of features counts, so their names go into Playwright's own.
for word; do
  case $word in --disable-features=*) word=$word,WebUIOmniboxPopup,WebUIOmniboxAimPopup ;; esac
  set -- "$@" "$word"
  shift
done
exec chromium "$@"
