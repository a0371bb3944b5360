# Writes the files of the inspector's page (server/inspector) into a C file, as bytes:
#
#     cmake -DFOLDER=<server/inspector> -DOUT=<file.c> "-DFILES=<path>;<path>" -P inspector.cmake
set(arrays "")
set(rows "")
set(number 0)
foreach(file ${FILES})
  file(READ ${FOLDER}/${file} bytes HEX)
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
  string(REGEX REPLACE "((0x..,){20})" "\\1\n" bytes "${bytes}")
  string(APPEND arrays "static const unsigned char file_${number}[] = {\n${bytes}};\n")
  if(file MATCHES "\\.html$")
    set(type "text/html; charset=utf-8")
  elseif(file MATCHES "\\.css$")
    set(type "text/css; charset=utf-8")
  elseif(file MATCHES "\\.js$")
    set(type "text/javascript; charset=utf-8")
  else()
    set(type "text/plain; charset=utf-8")
  endif()
  set(path "/inspector/${file}")
  if(file STREQUAL "index.html")
    set(path "/")
  endif()
  string(APPEND rows "    {\"${path}\", \"${type}\", file_${number}, sizeof(file_${number})},\n")
  math(EXPR number "${number} + 1")
endforeach()
file(WRITE ${OUT} "#include \"server/daemon/inspector_files.h\"\n\n${arrays}
const struct hc_sv_inspector_file hc_sv_inspector_files[] = {
${rows}};
const size_t hc_sv_inspector_file_count = ${number};
")
