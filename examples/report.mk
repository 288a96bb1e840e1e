# A table of results over a mount, made again when a case or a measurement changes, and only then:
#
#     make -f examples/report.mk MOUNT=mnt SOLVER=kissat COMMITS='rel-3.1.1 rel-4.0.0'
#     make -j4 -f examples/report.mk …        to measure several cells at once
#
# It works because the times of files do not change when their values are worked out (docs/tree.md). A case that is added or removed
# changes the list of cells, which report.cells keeps.
MOUNT   ?= mnt
SOLVER  ?= kissat
COMMITS ?= HEAD
REPORT  ?= report.tsv

CASES := $(sort $(notdir $(wildcard $(MOUNT)/$(SOLVER)/head/cases/[0-9]*)))
CELLS := $(foreach commit,$(COMMITS),$(foreach case,$(CASES),$(MOUNT)/$(SOLVER)/commits/$(commit)/cases/$(case)))

$(REPORT): $(REPORT).cells $(addsuffix /time,$(CELLS))
	@printf 'commit\tcase\tresult\tseconds\n' >$@.new
	@for cell in $(CELLS); do \
		commit=$${cell#*/commits/}; \
		printf '%s\t%s\t%s\t%s\n' "$${commit%%/*}" "$$(cat $(MOUNT)/cases/$${cell##*/}/name)" "$$(tail -n 1 $$cell/result)" "$$(cat $$cell/time)"; \
	done >>$@.new
	@mv $@.new $@
	@echo "$@: $(words $(CELLS)) cells"

# Another list of cells is another file; the same list leaves it as it is.
$(REPORT).cells: always
	@echo '$(CELLS)' | cmp -s - $@ || echo '$(CELLS)' >$@

# A cell is there when it is read: several at once with -j.
$(MOUNT)/%/time:
	@cat $@ >/dev/null

.PHONY: always
.DELETE_ON_ERROR:
