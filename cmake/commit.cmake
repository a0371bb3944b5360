# HC_COMMIT: " (abc1234)", the commit that `--version` names; empty where the sources are no checkout.
# HC_COMMIT_S: its time in Unix seconds, or that of CHANGELOG.md.
set(HC_COMMIT "")
file(TIMESTAMP ${PROJECT_SOURCE_DIR}/CHANGELOG.md HC_COMMIT_S "%s" UTC)
find_program(HC_GIT git)
mark_as_advanced(HC_GIT)
if(HC_GIT AND EXISTS ${PROJECT_SOURCE_DIR}/.git)
  execute_process(COMMAND ${HC_GIT} rev-parse --short=7 HEAD WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}
    OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  execute_process(COMMAND ${HC_GIT} rev-parse --git-path logs/HEAD
    WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}
    OUTPUT_VARIABLE moves OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  execute_process(COMMAND ${HC_GIT} log -1 --format=%ct WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}
    OUTPUT_VARIABLE commit_s OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  if(commit)
    set(HC_COMMIT " (${commit})")
    set(HC_COMMIT_S ${commit_s})
  endif()
  get_filename_component(moves "${moves}" ABSOLUTE BASE_DIR ${PROJECT_SOURCE_DIR})
  if(EXISTS ${moves}) # git appends a line to it whenever another commit is checked out
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${moves})
  endif()
endif()
