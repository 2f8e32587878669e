// The main function of the tests is that of Catch2.
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
